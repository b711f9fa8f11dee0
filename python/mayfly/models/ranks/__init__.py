"""Policies given by a rank function (SOAP): means, percentiles and transforms."""
