"""From text to tokens."""
