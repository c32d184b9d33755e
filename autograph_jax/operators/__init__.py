"""What converted code calls, under the name `ag__`: the Python path first, then the lax path. Never imports gast."""
