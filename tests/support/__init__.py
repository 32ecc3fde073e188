"""What tests of several rooms share: databases, the model collections, the tree of sources."""
