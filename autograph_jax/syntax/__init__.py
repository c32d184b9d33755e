"""A function <-> its gast tree: source, templates, fresh names, emit, text. The only room that builds nodes."""
