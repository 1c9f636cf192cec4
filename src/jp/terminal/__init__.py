"""What a channel can carry, whether somebody can be asked, and the one Printer (RFD 104)."""
