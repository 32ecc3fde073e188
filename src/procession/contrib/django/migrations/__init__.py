"""One migration for each version of Procession's schema; the first one also tells Django of the models."""
