//! Which commands the user has already allowed.
