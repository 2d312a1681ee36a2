"""Records a model's answers, and answers from a recording."""
