-- Tables of record first; the snapshot at the end is derived from them and can
-- be dropped and rebuilt at any time.

CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

-- One row per file. `path` is its name in the index (relative to the vault, `/`
-- between folders). The chunks of a note have consecutive ids from
-- `first_chunk` on. `tags` and `aliases` are JSON lists, `properties` a JSON
-- list of pairs.
CREATE TABLE note (
  id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL,
  size INTEGER NOT NULL,
  hash BLOB NOT NULL,
  title TEXT NOT NULL,
  kind TEXT,
  domain TEXT,
  status TEXT,
  source TEXT,
  description TEXT,
  created TEXT,
  updated TEXT,
  tags TEXT NOT NULL,
  aliases TEXT NOT NULL,
  properties TEXT NOT NULL,
  for_agents INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,
  n_chunks INTEGER NOT NULL
);

CREATE TABLE note_tag (
  tag TEXT NOT NULL,
  note_id INTEGER NOT NULL,
  PRIMARY KEY (tag, note_id)
) WITHOUT ROWID;
CREATE INDEX note_tag_note ON note_tag (note_id);

-- The redacted text is `len` bytes from `start` on of what the `body` of chunk
-- `body_chunk` decompresses to (Zstandard); `flat` is what is searched beside it
-- but never shown.
CREATE TABLE chunk (
  id INTEGER PRIMARY KEY,
  note_id INTEGER NOT NULL,
  line INTEGER NOT NULL,
  heading TEXT NOT NULL,
  language TEXT NOT NULL,
  body_chunk INTEGER NOT NULL,
  start INTEGER NOT NULL,
  len INTEGER NOT NULL,
  body BLOB,
  flat BLOB
);

-- Links as written; `to_note` is what the target resolves to, or NULL.
CREATE TABLE link (
  note_id INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  line INTEGER NOT NULL,
  target TEXT NOT NULL,
  anchor TEXT,
  is_embed INTEGER NOT NULL,
  is_wiki INTEGER NOT NULL,
  to_note INTEGER,
  PRIMARY KEY (note_id, seq)
) WITHOUT ROWID;
CREATE INDEX link_to ON link (to_note) WHERE to_note IS NOT NULL;

-- Distinct analysed terms joined by spaces; rowid = chunk.id. Neither text nor
-- positions are kept here: they would be a quarter of the file.
CREATE VIRTUAL TABLE keyword USING fts5(
  terms,
  content='', contentless_delete=1, detail=none,
  tokenize="unicode61 remove_diacritics 0 categories 'L* N* Co' tokenchars '_-.:/@+#'''"
);

-- Snapshot: what a cold query reads instead of the two index tables.
CREATE TABLE segment (
  id INTEGER PRIMARY KEY,
  first_chunk INTEGER NOT NULL,
  last_chunk INTEGER NOT NULL,
  n_docs INTEGER NOT NULL,
  n_notes INTEGER NOT NULL,
  total_len INTEGER NOT NULL,
  n_dead INTEGER NOT NULL
);

-- A long list is kept in `n_pieces` blocks from `first_piece` on.
CREATE TABLE posting (
  segment INTEGER NOT NULL,
  term TEXT NOT NULL,
  df INTEGER NOT NULL,
  note_df INTEGER NOT NULL,
  first_piece INTEGER NOT NULL,
  n_pieces INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (segment, term)
) WITHOUT ROWID;

CREATE TABLE block (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
