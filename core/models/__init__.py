"""Whole models: their configurations, embeddings, decoder, encoder, and how text is drawn from them."""
