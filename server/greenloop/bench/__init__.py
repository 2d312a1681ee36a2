"""The harness: tasks as data, presets as arms, every answer recorded, figures that come out of records alone."""
