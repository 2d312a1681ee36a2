"""The provider of all models that no other provider knows."""
