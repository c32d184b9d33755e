"""Conversion and its cache, calls from converted code, the decorator and the transforms."""
