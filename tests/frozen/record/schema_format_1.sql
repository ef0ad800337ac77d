-- application_id = 1280266059
-- user_version = 1
-- page_size = 16384
-- journal_mode = wal
CREATE TABLE faces (number INTEGER PRIMARY KEY, set_number INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE, position INTEGER NOT NULL, checksum BLOB NOT NULL, descriptor BLOB NOT NULL, source TEXT, picture BLOB, UNIQUE (set_number, position));
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sets (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, origin TEXT NOT NULL, content TEXT NOT NULL, faces INTEGER NOT NULL, pictures INTEGER NOT NULL, added TEXT NOT NULL);
