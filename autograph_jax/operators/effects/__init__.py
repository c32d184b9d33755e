"""What a compiled program does besides computing: raise, assert, print, report progress."""
