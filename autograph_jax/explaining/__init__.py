"""`explain`: what each line of a function became, as text, HTML and JSON."""
