"""What models cost: parameters, arithmetic and memory."""
