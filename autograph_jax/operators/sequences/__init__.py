"""Lists, ranges and iterators of which traced data decides something."""
