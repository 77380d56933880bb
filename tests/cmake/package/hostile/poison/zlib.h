#error "the include directories of the project"
