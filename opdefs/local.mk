# filled in by the folder
