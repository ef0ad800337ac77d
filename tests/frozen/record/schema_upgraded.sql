-- application_id = 1280266059
-- user_version = 6
-- page_size = 16384
-- journal_mode = wal
CREATE TABLE apart (first TEXT NOT NULL, second TEXT NOT NULL, checksum BLOB NOT NULL, PRIMARY KEY (first, second)) WITHOUT ROWID;
CREATE TABLE backups (number INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL, path TEXT NOT NULL);
CREATE TABLE barred (number INTEGER PRIMARY KEY AUTOINCREMENT, event INTEGER NOT NULL, made TEXT NOT NULL, kind TEXT NOT NULL, content TEXT NOT NULL, model TEXT, least REAL, descriptor BLOB, checksum BLOB NOT NULL);
CREATE TABLE decision_sets (decision INTEGER NOT NULL REFERENCES decisions (number) ON DELETE CASCADE, position INTEGER NOT NULL, set_id TEXT NOT NULL, PRIMARY KEY (decision, position)) WITHOUT ROWID;
CREATE TABLE decisions (number INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL, kind TEXT NOT NULL, person INTEGER, name TEXT NOT NULL, other INTEGER, checksum BLOB NOT NULL);
CREATE TABLE events (number INTEGER PRIMARY KEY AUTOINCREMENT, made TEXT NOT NULL, kind TEXT NOT NULL, said TEXT NOT NULL);
CREATE TABLE faces (number INTEGER PRIMARY KEY, set_number INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE, position INTEGER NOT NULL, checksum BLOB NOT NULL, descriptor BLOB NOT NULL, source TEXT, picture BLOB, UNIQUE (set_number, position));
CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (number INTEGER PRIMARY KEY, content TEXT NOT NULL UNIQUE, path TEXT NOT NULL, size INTEGER NOT NULL, changed INTEGER NOT NULL, kind TEXT NOT NULL, settings TEXT NOT NULL, remark TEXT NOT NULL, checksum BLOB NOT NULL, captured TEXT);
CREATE TABLE models (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, dimension INTEGER NOT NULL);
CREATE TABLE set_files (set_number INTEGER NOT NULL REFERENCES sets (number) ON DELETE CASCADE, file_number INTEGER NOT NULL REFERENCES files (number) ON DELETE CASCADE, PRIMARY KEY (set_number, file_number)) WITHOUT ROWID;
CREATE TABLE sets (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, origin TEXT NOT NULL, content TEXT NOT NULL, faces INTEGER NOT NULL, pictures INTEGER NOT NULL, added TEXT NOT NULL, sighted TEXT, start_seconds REAL, end_seconds REAL, good INTEGER, seal BLOB);
CREATE TABLE sightings (face INTEGER PRIMARY KEY REFERENCES faces (number) ON DELETE CASCADE, said TEXT NOT NULL);
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE vectors (number INTEGER PRIMARY KEY, face INTEGER NOT NULL REFERENCES faces (number) ON DELETE CASCADE, model INTEGER NOT NULL REFERENCES models (number) ON DELETE CASCADE, checksum BLOB NOT NULL, descriptor BLOB NOT NULL, UNIQUE (face, model));
CREATE INDEX apart_by_second ON apart (second);
CREATE INDEX decision_sets_by_set ON decision_sets (set_id);
CREATE INDEX files_by_path ON files (path);
CREATE INDEX set_files_by_file ON set_files (file_number);
