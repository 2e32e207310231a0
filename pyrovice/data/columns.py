"""Names of columns that tables of judgments share."""

# The three objects of a judgment, in ascending order.
OBJECT_COLUMNS = ("object_1", "object_2", "object_3")
# Where each of them stood on the screen, in `Triplets.trials`.
PLACE_COLUMNS = ("place_1", "place_2", "place_3")
