"""The texts of a conversation with a capable model, as pure functions of its report and attempts."""
