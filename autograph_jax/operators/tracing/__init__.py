"""What a block that is traced reads, writes and aliases: places, cells, the log."""
