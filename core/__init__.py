"""The mathematics: PyTorch only, no charts, no text for readers."""
