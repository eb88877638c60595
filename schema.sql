-- The whole schema of Soda Scheduler, as it is now. The master makes and migrates it by itself
-- (master/infrastructure/sql/migrations.ts); this file is for reading, and a test compares the two.
--
-- MySQL 8 and MariaDB. SQLite has the same tables, columns and indexes with other words for types:
-- INTEGER for INT and BIGINT, REAL for DOUBLE, TEXT for the rest, in STRICT tables; text is
-- compared byte by byte there anyway, and indexes are statements of their own.
--
-- Every instant (`..._at`, `order_time`, `queue_time`) is UTC in epoch milliseconds. JSON is text: the database
-- never looks into it.

-- One row: how far this database has been migrated. A newer version is never touched by an older master.
CREATE TABLE schema_version (
  -- Always 1.
  id INT NOT NULL PRIMARY KEY,
  -- Migrations done; see master/infrastructure/sql/migrations.ts.
  version INT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Namespaces, and who may write each. Every commit updates the row of its namespace where the term is its
-- own. Rows are never deleted: no number is given twice.
CREATE TABLE namespace (
  -- 0 is `default`. All numbers that belong to a namespace begin at its own times 2^40.
  id INT NOT NULL PRIMARY KEY,
  -- As paths name it.
  name VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- When it was made, or made again.
  created_at BIGINT NOT NULL,
  -- 1: it was deleted, and had neither live tasks nor pending callbacks then.
  is_deleted INT NOT NULL,
  -- Grows with every master that takes over. A commit of an older term is refused.
  term BIGINT NOT NULL,
  -- Which process holds the term, for people.
  owner VARCHAR(255) NOT NULL,
  -- When the term began.
  started_at BIGINT NOT NULL,
  -- The seq of the next task. Written with every commit, so that none comes twice, whatever is deleted.
  next_seq BIGINT NOT NULL,
  -- The number of the next event of its feed; of their own, so that they have no gaps.
  next_event_seq BIGINT NOT NULL DEFAULT 1,
  -- When the newest commit was made, by the clock of its master; null until the first.
  alive_at BIGINT NULL,
  -- The connection that wrote this row, for a master that takes over from one that stands still.
  writer BIGINT NULL,
  -- While due times or limits move: by how much, and from which row on; JSON.
  unfinished MEDIUMTEXT NULL,
  -- Since when nothing is offered; NULL: it is not paused.
  paused_at BIGINT NULL,
  -- Who did it: the name of a token; NULL: nobody who needs one.
  paused_by VARCHAR(64) NULL,
  -- Why, for people.
  paused_reason MEDIUMTEXT NULL,
  -- When the pause ends by itself; NULL: never.
  paused_until BIGINT NULL,
  -- short, normal or long: how long tasks are kept that end from now on.
  retention VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Tasks that may wait; NULL: only the bound of the master.
  max_waiting INT NULL,
  -- Attempts that may be under way; NULL means without limit.
  max_running INT NULL,
  -- No name is given twice.
  UNIQUE KEY namespace_name (name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Where tasks wait: one row for each group that has tasks of a kind waiting, or had of late.
CREATE TABLE lane (
  -- From the same counter as those of tasks.
  seq BIGINT NOT NULL PRIMARY KEY,
  -- Namespace.
  ns INT NOT NULL,
  -- "type|requires|labels", then "|bytes" of disk and "|limit=n,..." of shared limits: one kind may run on the same executors.
  kind VARCHAR(857) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The group that has submitted them.
  user_group VARCHAR(64) NOT NULL,
  -- All of a namespace.
  KEY lane_ns_kind (ns, kind, user_group)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What operators have decided about executors, present or not: one row where there is something.
CREATE TABLE executor (
  -- Namespace.
  ns INT NOT NULL,
  -- The id that it gives itself.
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- 0: the id was made up for one process, and means nothing after it.
  lasting INT NOT NULL,
  -- Since when it is given no task; NULL: it is given tasks.
  drained_at BIGINT NULL,
  -- Who did it: the name of a token; NULL: nobody who needs one.
  drained_by VARCHAR(64) NULL,
  -- Why, in their words.
  drain_reason MEDIUMTEXT NULL,
  -- When what it still runs is taken back; NULL: it may end it in its own time.
  drain_deadline_at BIGINT NULL,
  -- JSON array: what counts in place of the labels that it says it has; NULL: those count.
  labels MEDIUMTEXT NULL,
  -- JSON array: the same of the labels that it is reserved for.
  reserve MEDIUMTEXT NULL,
  -- Who has set labels or reservations last.
  override_by VARCHAR(64) NULL,
  -- The same id may be there in many namespaces.
  PRIMARY KEY (ns, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Attempts that are over for their tasks and that their executors have not reported: they may still run,
-- and count as running until then, or until the lease of the executor has ended.
CREATE TABLE leftover (
  -- Namespace.
  ns INT NOT NULL,
  -- Id of the task, which may have ended or run elsewhere since.
  task_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Number of the attempt.
  attempt INT NOT NULL,
  -- Who has it.
  executor_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Which process of that executor id; empty where that is not known.
  incarnation VARCHAR(64) NOT NULL,
  -- Of which type it counts, towards limits; empty where that is not known.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- And of which group.
  user_group VARCHAR(64) NOT NULL,
  -- Of which gate it has a place (see `task`); NULL: of none.
  gate BIGINT NULL,
  -- An executor has one at a time.
  PRIMARY KEY (ns, task_id, attempt)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- How many tasks were begun in the windows of rates that are set for types, one row for each rate that is in use.
CREATE TABLE rate (
  -- Namespace.
  ns INT NOT NULL,
  -- Whose rate it is.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Of which of its groups, as bytes of UTF-8 (blanks at the end of a text would not count); empty for that of all of them.
  user_group VARBINARY(256) NOT NULL,
  -- When the window began.
  window_at BIGINT NOT NULL,
  -- Offers in it that nobody has rejected.
  offer_count INT NOT NULL,
  -- The one window that counts.
  PRIMARY KEY (ns, type, user_group)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Pauses of groups and of labels, and what a namespace knows of that of all namespaces. That of a namespace is in its
-- row, that of a type in `task_type`.
CREATE TABLE pause (
  -- Namespace.
  ns INT NOT NULL,
  -- From the same counter as `task.seq`.
  id BIGINT NOT NULL,
  -- "group", "label" or "all".
  scope VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The group or the label; empty: of all.
  value VARCHAR(64) NOT NULL,
  -- Since when none of these tasks is offered.
  paused_at BIGINT NOT NULL,
  -- Who has paused them, where that is known.
  paused_by VARCHAR(64) NULL,
  -- Why.
  paused_reason MEDIUMTEXT NULL,
  -- When it ends by itself; NULL: when somebody ends it.
  paused_until BIGINT NULL,
  -- By number: values may differ in nothing but spaces at their end.
  PRIMARY KEY (ns, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What tasks of many types share, and how much of it there is.
CREATE TABLE shared_limit (
  -- Namespace.
  ns INT NOT NULL,
  -- As types and tasks name it.
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- So much may be taken in one place.
  max_count INT NOT NULL,
  -- Which places there are: "cluster" (one), "host", or "label:<prefix>".
  per VARCHAR(80) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- By name.
  PRIMARY KEY (ns, name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What attempts have taken of shared limits: from their offer until their executor has reported, or its lease has ended.
CREATE TABLE holding (
  -- Namespace.
  ns INT NOT NULL,
  -- Id of the task, which may have ended or run elsewhere since.
  task_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Number of the attempt.
  attempt INT NOT NULL,
  -- JSON: which limit, in which place ("" for all, "host <host>", "label <label>"), and how much.
  taken MEDIUMTEXT NOT NULL,
  -- An attempt takes all that it uses at once.
  PRIMARY KEY (ns, task_id, attempt)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What is set for task types: by their owners, and by operators.
CREATE TABLE task_type (
  -- Namespace.
  ns INT NOT NULL,
  -- The name of the type.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Another one with every definition, and none that it ever had; 0: it is not registered, and operators have decided something.
  version BIGINT NOT NULL,
  -- JSON: defaults, the schema of params, limits and the like, in the words of the API.
  definition MEDIUMTEXT NOT NULL,
  -- Since when no task of it is offered; NULL: it is not paused.
  paused_at BIGINT NULL,
  -- Who has paused it, where that is known.
  paused_by VARCHAR(64) NULL,
  -- Why.
  paused_reason MEDIUMTEXT NULL,
  -- When the pause ends by itself; NULL: when somebody ends it.
  paused_until BIGINT NULL,
  -- JSON: limits and route that hold in place of those in the definition; NULL: there are none.
  override_text MEDIUMTEXT NULL,
  -- When they were set.
  override_at BIGINT NULL,
  -- Who has set them, where that is known.
  override_by VARCHAR(64) NULL,
  -- Why.
  override_reason MEDIUMTEXT NULL,
  -- When they end by themselves; NULL: when somebody ends them.
  override_until BIGINT NULL,
  -- The same type may be there in many namespaces.
  PRIMARY KEY (ns, type)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Lists of tasks that people look at again and again.
CREATE TABLE saved_view (
  -- Namespace.
  ns INT NOT NULL,
  -- As people call it.
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- JSON: the query of the list, in the words of the API.
  query MEDIUMTEXT NOT NULL,
  -- By name.
  PRIMARY KEY (ns, name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Operations on many tasks: done slice by slice, each with how far it is in the same commit.
CREATE TABLE work (
  -- Namespace.
  ns INT NOT NULL,
  -- The id of the operation.
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- bulk: one command on many tasks.
  kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- running, paused, done or canceled.
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- JSON: what is done, to which tasks, and what whoever asked may touch.
  request MEDIUMTEXT NOT NULL,
  -- JSON array: ids that it has yet to come to; NULL: a search finds its tasks.
  ids MEDIUMTEXT NULL,
  -- Where the search goes on: a table and a seq; NULL: at the beginning.
  place VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- JSON: how many tasks are expected, and what became of those that it has come to.
  counts MEDIUMTEXT NOT NULL,
  -- 1: those that are expected were counted; 0: estimated.
  is_exact INT NOT NULL,
  -- JSON array: the first tasks to which it was not done, and why.
  problems MEDIUMTEXT NOT NULL,
  -- Who has begun it, where that is known.
  created_by VARCHAR(64) NULL,
  -- When.
  created_at BIGINT NOT NULL,
  -- When it was over; NULL: it is not.
  ended_at BIGINT NULL,
  -- The same id may be there in many namespaces.
  PRIMARY KEY (ns, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Jobs: what is submitted again and again. Read by the page: memory holds none of them.
CREATE TABLE job (
  -- Namespace.
  ns INT NOT NULL,
  -- Its name.
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Raised by each change of what is set.
  version BIGINT NOT NULL,
  -- 0: no trigger fires it.
  is_enabled INT NOT NULL,
  -- Canonical JSON of what was set, but for the template.
  spec MEDIUMTEXT NOT NULL,
  -- JSON of a task and a user, as it was written: what is submitted.
  template MEDIUMTEXT NOT NULL,
  -- Of its tasks.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Of its tasks.
  user_group VARCHAR(64) NOT NULL,
  -- JSON array of words.
  tags MEDIUMTEXT NOT NULL,
  -- For people.
  description MEDIUMTEXT NULL,
  -- Epoch milliseconds, as all instants.
  created_at BIGINT NOT NULL,
  -- When this version was made.
  changed_at BIGINT NOT NULL,
  -- By whom, where that is known.
  changed_by VARCHAR(64) NULL,
  -- Of the run that has ended last: when it was started.
  last_started_at BIGINT NULL,
  -- And when it ended.
  last_ended_at BIGINT NULL,
  -- How its newest runs have ended, newest first: s succeeded, f failed, c canceled, e expired.
  recent VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Since when its tasks are of this type and group.
  owned_at BIGINT NOT NULL DEFAULT 0,
  -- Each once.
  PRIMARY KEY (ns, name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The newest thirty versions of each job.
CREATE TABLE job_version (
  -- Namespace.
  ns INT NOT NULL,
  -- Of which job.
  job VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Its number.
  version BIGINT NOT NULL,
  -- As in job.
  spec MEDIUMTEXT NOT NULL,
  -- As in job.
  template MEDIUMTEXT NOT NULL,
  -- When it was made.
  made_at BIGINT NOT NULL,
  -- By whom, where that is known.
  made_by VARCHAR(64) NULL,
  -- Each once.
  PRIMARY KEY (ns, job, version)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What fires a job. A trigger that waits costs nothing: memory knows when the first of all is due.
CREATE TABLE job_trigger (
  -- Namespace.
  ns INT NOT NULL,
  -- Of which job.
  job VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Unique in its job.
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- cron, every, delay, at, rotate or on.
  kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- JSON: what it is, with what it takes from its job.
  spec MEDIUMTEXT NOT NULL,
  -- 1: calendars and black-outs say which of its times are run.
  is_calendared INT NOT NULL,
  -- The job whose ends it waits for; NULL: none.
  source VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Since when its times are what they are: an interval is counted from here.
  anchor_at BIGINT NOT NULL,
  -- Since when it is as it is.
  changed_at BIGINT NOT NULL,
  -- Of one that counts from ends of runs: the time that has come; NULL: none has.
  armed_at BIGINT NULL,
  -- When it is looked at next; NULL: not by itself.
  next_at BIGINT NULL,
  -- For which of its times; NULL: to say that some are not run.
  next_nominal BIGINT NULL,
  -- Each of its times up to this one has one record.
  decided_until BIGINT NOT NULL,
  -- Runs that it has begun.
  fired_count BIGINT NOT NULL,
  -- The last of them.
  last_fired_at BIGINT NULL,
  -- Runs in a row that have not succeeded.
  failure_count INT NOT NULL,
  -- It was paused because of these; NULL: it was not.
  paused_at BIGINT NULL,
  -- The last error.
  paused_reason MEDIUMTEXT NULL,
  -- JSON array of times to come that somebody has skipped; NULL: none.
  skips MEDIUMTEXT NULL,
  -- JSON: the record that stands for its last times, none of which was run; NULL: there is none.
  open_run MEDIUMTEXT NULL,
  -- JSON array of times to come that have run on a day before theirs; NULL: none.
  decided_ahead MEDIUMTEXT NULL,
  -- Each once.
  PRIMARY KEY (ns, job, name),
  -- Those that a change of a calendar may move.
  INDEX job_trigger_ns_calendared (ns, is_calendared, job, name),
  -- Which are due.
  INDEX job_trigger_ns_next (ns, next_at),
  -- Which wait for a job.
  INDEX job_trigger_ns_source (ns, source)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What has become of each time of a trigger: one row for each, or one for many in a row that were not run.
CREATE TABLE occurrence (
  -- Namespace.
  ns INT NOT NULL,
  -- Of which job.
  job VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Of which trigger; empty: somebody has asked for a run.
  trigger_name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The time, as the trigger has it; of several the first.
  nominal BIGINT NOT NULL,
  -- 0, or the number of the backfill that has run it again.
  rerun INT NOT NULL,
  -- ran, pending, skipped, merged, replaced or refused.
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Why, where there is something to be said.
  reason MEDIUMTEXT NULL,
  -- The calendar that has decided.
  calendar VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- The last time that it stands for.
  until_nominal BIGINT NOT NULL,
  -- How many it stands for.
  times BIGINT NOT NULL,
  -- The id of the task that it has made.
  task_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- When it was decided.
  noticed_at BIGINT NOT NULL,
  -- Each once.
  PRIMARY KEY (ns, job, trigger_name, nominal, rerun),
  -- Those of a job, the newest first.
  INDEX occurrence_ns_nominal (ns, job, nominal, trigger_name, rerun),
  -- The same of one state.
  INDEX occurrence_ns_state (ns, job, state, nominal, trigger_name, rerun),
  -- Which are old enough to be removed.
  INDEX occurrence_noticed (noticed_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Jobs that are busy: what runs, what waits for that, and which ends nobody has looked at yet. Memory holds all of it.
CREATE TABLE job_activity (
  -- Namespace.
  ns INT NOT NULL,
  -- Which job.
  job VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Its tasks that have not ended.
  live_count INT NOT NULL,
  -- JSON array: the ids of the newest of these.
  live_ids MEDIUMTEXT NOT NULL,
  -- JSON array: times that wait for a run to end, in order.
  pending MEDIUMTEXT NOT NULL,
  -- JSON array: ends of runs that are yet to be looked at.
  ends MEDIUMTEXT NOT NULL,
  -- JSON array: how many ends before these there was no room for, by how they ended; NULL: none.
  lost_ends MEDIUMTEXT NULL,
  -- Each once.
  PRIMARY KEY (ns, job)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Bookings: executors that are kept for a group in a window of time. Those that are over go after a week.
CREATE TABLE booking (
  -- Namespace.
  ns INT NOT NULL,
  -- As the API has it.
  id VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- planned, at_risk, bound, no_show, ended or canceled.
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The window that is open or next; of one that is over the last.
  from_at BIGINT NOT NULL,
  -- When it ends.
  to_at BIGINT NOT NULL,
  -- In which order they were accepted: from the counter of tasks.
  accepted_seq BIGINT NOT NULL,
  -- When it was asked for.
  created_at BIGINT NOT NULL,
  -- When it was over; NULL: it is not.
  ended_at BIGINT NULL,
  -- JSON of what else was asked for, of windows to come with their division over pools, and of what has become of this one.
  definition MEDIUMTEXT NOT NULL,
  -- JSON [{ executorId, since }]: those that are bound.
  bound MEDIUMTEXT NOT NULL,
  -- All are read when a term begins.
  PRIMARY KEY (ns, id)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Calendars; the one without a name has what holds for all jobs.
CREATE TABLE calendar (
  -- Namespace.
  ns INT NOT NULL,
  -- Its name.
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Raised by each change.
  version BIGINT NOT NULL,
  -- Canonical JSON: days and weekend, or black-outs.
  definition MEDIUMTEXT NOT NULL,
  -- When this version was made.
  changed_at BIGINT NOT NULL,
  -- By whom, where that is known.
  changed_by VARCHAR(64) NULL,
  -- Of the one without a name: behind which trigger others are yet to find their next times; NULL: none are.
  replan_after VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Each once.
  PRIMARY KEY (ns, name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Live tasks only: waiting, held, offered or running. A task leaves with the commit that ends it, so this
-- table is as large as the backlog, whatever has been.
CREATE TABLE task (
  -- Accept order, given by the master: the tie-break of every order. Never leaves the master.
  seq BIGINT NOT NULL PRIMARY KEY,
  -- The name of the task, chosen by the client or a UUIDv7.
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Which handler runs it.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Empty: 2.0.0 had the name of its kind here.
  lane VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- waiting, held, offered or running; in history succeeded, failed, canceled or expired.
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Raised by one with every write of the row, which names the version it expects.
  version INT NOT NULL,
  -- Seconds of head start; already part of order_time.
  priority INT NOT NULL,
  -- Where it came to stand by itself: since when it waits, less its head start.
  order_time BIGINT NOT NULL,
  -- A waiting task is not offered before this instant.
  due_at BIGINT NOT NULL,
  -- Number of the newest attempt, which fences older ones; 0 before the first offer.
  attempt INT NOT NULL,
  -- Attempts that count against max_attempts.
  attempts_used INT NOT NULL,
  -- Executors lost under this task since its last new checkpoint.
  crash_count INT NOT NULL,
  -- Who has the newest attempt, or had the last one.
  executor_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- When the newest attempt was offered.
  offered_at BIGINT NULL,
  -- When the executor accepted it.
  started_at BIGINT NULL,
  -- When the running attempt was told to end; NULL if it was not.
  cancel_requested_at BIGINT NULL,
  -- Why: canceled, execution_timeout, stalled, deadline or drain.
  cancel_reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- How the newest ended attempt ended; see task_attempt.outcome.
  last_outcome VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- 0 to 100, as last reported.
  progress_percent DOUBLE NULL,
  -- When progress was last reported.
  progress_at BIGINT NULL,
  -- When the task was accepted.
  submitted_at BIGINT NOT NULL,
  -- Attempts that may be used up; 0 means until success.
  max_attempts INT NOT NULL,
  -- JSON: seconds between attempts, a number or a list.
  retry_interval VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- How long an executor may take to accept an offer.
  assign_timeout_ms BIGINT NOT NULL,
  -- How long one attempt may run; NULL means without limit.
  execution_timeout_ms BIGINT NULL,
  -- How long it may run without progress; NULL means without limit.
  stall_timeout_ms BIGINT NULL,
  -- The end of the task over all attempts; NULL means none.
  deadline_at BIGINT NULL,
  -- Digest of the request, to recognise its repetition; empty where the master chose the id.
  request_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- JSON array: what the task is, for reserved executors and for listing.
  labels VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- JSON array: labels that an executor must have.
  requires VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The project group that the usage is counted for.
  user_group VARCHAR(64) NOT NULL,
  -- The project, as the client says.
  user_project VARCHAR(64) NULL,
  -- The environment, as the client says.
  user_env VARCHAR(64) NULL,
  -- The user, as the client says.
  user_name VARCHAR(64) NULL,
  -- Where the callback goes; NULL means that none is wanted.
  notify_url MEDIUMTEXT NULL,
  -- JSON of the executor, as last reported.
  progress_state MEDIUMTEXT NULL,
  -- JSON { message, name?, details? } of the newest attempt that failed.
  error MEDIUMTEXT NULL,
  -- JSON that the next attempt starts from.
  checkpoint MEDIUMTEXT NULL,
  -- JSON for the handler. The master never reads it.
  params MEDIUMTEXT NOT NULL,
  -- Number of the namespace; that of `seq` says the same.
  ns INT NOT NULL DEFAULT 0,
  -- Which process of that executor id; NULL for attempts that began before this column was there.
  incarnation VARCHAR(64) NULL,
  -- Executors whose contact was lost under it, and that went on, since its last new checkpoint.
  contact_count INT NOT NULL DEFAULT 0,
  -- How much of the time since the newest attempt was offered or started no master could see.
  hidden_ms BIGINT NOT NULL DEFAULT 0,
  -- The same since its last progress.
  stall_hidden_ms BIGINT NOT NULL DEFAULT 0,
  -- From due to accepted, each time that it is to be started; NULL means without limit.
  start_timeout_ms BIGINT NULL,
  -- alert: the task is only told of then. NULL: it fails.
  start_timeout_action VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- The earlier of the deadline and of the limit for the start, where it waits; NULL means none.
  end_by BIGINT NULL,
  -- Free disk that its executor must report; NULL means any will do.
  disk_bytes BIGINT NULL,
  -- What it takes of shared limits: "limit=n,..."; NULL means nothing.
  uses VARCHAR(584) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Where it waits, or waited last: a row of `lane`, which may have gone once it does not wait.
  lane_seq BIGINT NULL,
  -- JSON { parts?, speed?, eta_seconds? } of the executor, as last reported.
  progress_detail MEDIUMTEXT NULL,
  -- Of the trace that its submit was part of, as W3C writes it; NULL: of none.
  traceparent VARCHAR(55) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- What holds it: a number for its type and the value at `limits.concurrency.pointer` of its params; NULL: it is not held.
  gate BIGINT NULL,
  -- Sort key of a waiting task, before seq: order_time, until somebody puts it first or last of its type.
  queue_time BIGINT NULL,
  -- Of one that is suspended, or told to end for that: when, by whom and why; JSON.
  suspended MEDIUMTEXT NULL,
  -- The number of the newest event that its newest attempt has told of itself.
  event_count BIGINT NOT NULL DEFAULT 0,
  -- Of which job it is a run: JSON array of its name, its version, the trigger and the time; NULL: of none.
  job MEDIUMTEXT NULL,
  -- Of which booking it is; NULL: of none.
  booking VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- No id is live twice in a namespace.
  UNIQUE KEY task_ns_id (ns, id),
  -- Pages of a lane in order, counts of lanes, and the few active tasks, from the index alone.
  KEY task_queue (state, lane_seq, queue_time, seq, due_at),
  -- Delayed tasks by due time.
  KEY task_ns_due (ns, due_at, seq),
  -- Waiting tasks whose deadline, or limit for the start, has come. SQLite leaves out those that have neither.
  KEY task_ns_end (ns, end_by, seq, deadline_at, type),
  -- Those that are held, in the order in which they are let go. SQLite leaves out all others.
  KEY task_ns_gate (ns, gate, queue_time, seq),
  -- Those of a booking, by due time. SQLite leaves out all others.
  KEY task_ns_booking (ns, booking, due_at, seq)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Attempts that ended without success, of live tasks and of tasks in history; the attempt that
-- succeeded is described by its task. Of a task the newest 200 are kept: each new row takes the place
-- of an old one. Rows go when the segment of their task is dropped, those of a few hundred tasks at
-- a time.
CREATE TABLE task_attempt (
  -- seq of the task.
  task_seq BIGINT NOT NULL,
  -- Number of the attempt, from 1.
  attempt INT NOT NULL,
  -- Who had it.
  executor_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- failed, timed_out, lost, lost_contact, rejected, assign_timeout, canceled or returned.
  outcome VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- When it was offered.
  offered_at BIGINT NOT NULL,
  -- When the executor accepted it; NULL if it never did.
  started_at BIGINT NULL,
  -- When it ended.
  ended_at BIGINT NOT NULL,
  -- JSON { message, name?, details? }.
  error MEDIUMTEXT NULL,
  -- Which process of that executor id.
  incarnation VARCHAR(64) NULL,
  -- In which session its end was found out; NULL where the executor had none.
  session VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Attempts of a task, oldest first.
  PRIMARY KEY (task_seq, attempt)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What all masters of this database share and nobody else may know. Never logged or shown.
CREATE TABLE installation (
  -- mac_secret and audit_key, older ones as ..._before; audit_head: where the audit begins and ends; pause: of all namespaces.
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  -- Of a secret: base64url of 32 random bytes, made by the first master that needs it. Of the head and the pause: JSON.
  value MEDIUMTEXT NOT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Named tokens, of all namespaces: who may call what.
CREATE TABLE token (
  -- Whose it is.
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  -- SHA-256 of the token in base64url: what is to be sent is stored nowhere.
  digest VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- read, submit, operate, admin or executor.
  role VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- JSON: lists of namespaces, groups and types, null for all of them; NULL: everything.
  scope MEDIUMTEXT NULL,
  -- When it was made.
  created_at BIGINT NOT NULL,
  -- The name of the token that made it; NULL: none was needed.
  created_by VARCHAR(64) NULL,
  -- From when on it opens nothing; NULL: never.
  expires_at BIGINT NULL,
  -- To the minute.
  last_used_at BIGINT NULL
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Who has changed what, of all namespaces: written by the commit that changes it, and only ever added to, but for
-- retention, which takes the oldest away.
CREATE TABLE audit (
  -- Without holes, from 1.
  seq BIGINT NOT NULL PRIMARY KEY,
  -- When it was changed.
  made_at BIGINT NOT NULL,
  -- The name of a token; NULL: none was needed.
  actor VARCHAR(64) NULL,
  -- read, submit, operate, admin or executor.
  role VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Where the request came from, which may be a proxy.
  address VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- What was done, as in type.pause.
  action VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- In which, by its name; NULL: in none.
  namespace VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- What was changed, by its name.
  target VARCHAR(128) NULL,
  -- done, or refused to somebody who may not.
  outcome VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- By which many were chosen, as JSON.
  filter_text MEDIUMTEXT NULL,
  -- How many; of what was refused: the tries that no row before tells of.
  item_count BIGINT NULL,
  -- What of it has changed, as it was, as JSON; NULL: it was not there.
  state_before MEDIUMTEXT NULL,
  -- The same as it is since; NULL: it is gone.
  state_after MEDIUMTEXT NULL,
  -- Why, in the words of whoever did it.
  reason MEDIUMTEXT NULL,
  -- Of the last row of a commit, in base64url: HMAC-SHA-256 under audit_key over the hash before and its rows.
  hash VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Pages by time.
  KEY audit_made (made_at, seq)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What has happened in each namespace, as its feed tells it: written by the commit of what it tells, never changed, and
-- removed from the oldest on.
CREATE TABLE feed_event (
  -- The number of the event, behind the namespace: times 2^40. Without gaps.
  seq BIGINT NOT NULL PRIMARY KEY,
  -- When it happened.
  told_at BIGINT NOT NULL,
  -- As in task.finished; user.<name> is what a handler tells of.
  kind VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Of which task (see `task`); NULL: of none.
  task_seq BIGINT NULL,
  -- Its id.
  task_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Its type, or which one it is about; NULL: none.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- The same of the group.
  user_group VARCHAR(64) NULL,
  -- Number of the attempt; NULL: it is not of one.
  attempt INT NULL,
  -- Who has it, or which one it is about.
  executor_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Whose command it follows from: the name of a token; NULL: nobody's.
  actor VARCHAR(64) NULL,
  -- What else there is to say, as JSON; NULL: nothing.
  data MEDIUMTEXT NULL,
  -- All of a task, by number.
  KEY feed_event_task (task_seq)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- The logs of tasks, so many lines in a row: the first half and the newest of each attempt, up to SODA_LOG_BYTES. Written
-- beside the commits of tasks; a row that grows is replaced. They go with the attempts of their task.
CREATE TABLE task_log (
  -- Of which task (see `task`). Below zero, on SQLite: the log of the task without the sign is to be removed.
  task_seq BIGINT NOT NULL,
  -- Number of the attempt.
  attempt INT NOT NULL,
  -- Number of the first line. What is missing between two rows was dropped. 9999999999: no lines, but how many there were.
  n BIGINT NOT NULL,
  -- Number of the last line, or that.
  last_n BIGINT NOT NULL,
  -- Of `line_texts`, in UTF-8.
  byte_count INT NOT NULL,
  -- One line each: its number, when, level, stream, text, and fields where it has some, as a list in JSON.
  line_texts MEDIUMTEXT NOT NULL,
  -- In the order in which they are read.
  PRIMARY KEY (task_seq, attempt, n)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What each commit adds to the usage of tasks: written by that commit, and gone once it is added up in `usage_day`.
CREATE TABLE usage_delta (
  -- As in `task`.
  ns INT NOT NULL,
  -- Of the master that has written it.
  term BIGINT NOT NULL,
  -- Within the term.
  delta BIGINT NOT NULL,
  -- JSON [{ day, group, project, env, user, type, figures }].
  counts MEDIUMTEXT NOT NULL,
  -- No two masters have the same term.
  PRIMARY KEY (ns, term, delta)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What tasks have used, by day: figures that only grow.
CREATE TABLE usage_day (
  -- As in `task`.
  ns INT NOT NULL,
  -- As 2026-11-22, in the zone that was set then.
  day VARCHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Whose tasks, as in rate; (other) beyond so many on that day.
  user_group VARBINARY(256) NOT NULL,
  -- Empty: they have none. So for the next two.
  user_project VARBINARY(256) NOT NULL,
  -- See above.
  user_env VARBINARY(256) NOT NULL,
  -- See above.
  user_name VARBINARY(256) NOT NULL,
  -- Of which type.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Tasks that were accepted.
  submitted BIGINT NOT NULL,
  -- Tasks that have ended so; and so for the next three.
  succeeded BIGINT NOT NULL,
  -- See above.
  failed BIGINT NOT NULL,
  -- See above.
  canceled BIGINT NOT NULL,
  -- See above.
  expired BIGINT NOT NULL,
  -- Attempts that have ended, but for offers that came to nothing.
  attempts BIGINT NOT NULL,
  -- Those of them that took too long or stood still.
  timed_out BIGINT NOT NULL,
  -- Those whose executor was lost.
  lost BIGINT NOT NULL,
  -- From due to started, of all of them.
  wait_ms BIGINT NOT NULL,
  -- From started to ended.
  run_ms BIGINT NOT NULL,
  -- Callbacks that were taken.
  callbacks_delivered BIGINT NOT NULL,
  -- Callbacks that were given up.
  callbacks_gave_up BIGINT NOT NULL,
  -- For which executors were booked and ran nothing of it.
  booked_idle_ms BIGINT NOT NULL,
  -- A day of a namespace in one piece.
  PRIMARY KEY (ns, day, user_group, user_project, user_env, user_name, type)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- How busy types were: a row for each minute in which there was something of a type, which is added to that of its hour, and to one of
-- all times. Numbers are what a master has counted in memory: of minutes in which there was none nothing is known.
CREATE TABLE load_sample (
  -- As in `task`.
  ns INT NOT NULL,
  -- Minutes that it is about: 1 or 60; 0: of all times.
  span INT NOT NULL,
  -- (all): of all together, each minute; (other): of all that are not told apart.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- When the minute or the hour began, by UTC; 0: of all times.
  begin_at BIGINT NOT NULL,
  -- Tasks that were accepted.
  accepted BIGINT NOT NULL,
  -- That have started.
  started BIGINT NOT NULL,
  -- That have ended so; and so for the next three.
  succeeded BIGINT NOT NULL,
  -- See above.
  failed BIGINT NOT NULL,
  -- See above.
  canceled BIGINT NOT NULL,
  -- See above.
  expired BIGINT NOT NULL,
  -- Attempts that failed, took too long or were lost.
  attempts_failed BIGINT NOT NULL,
  -- Of those that have started, how many within 0.1 s after they were due.
  delay_tenth BIGINT NOT NULL,
  -- Up to 1 s.
  delay_second BIGINT NOT NULL,
  -- Up to 5 s.
  delay_five_seconds BIGINT NOT NULL,
  -- Up to 30 s.
  delay_half_minute BIGINT NOT NULL,
  -- Up to 2 min.
  delay_two_minutes BIGINT NOT NULL,
  -- Up to 10 min.
  delay_ten_minutes BIGINT NOT NULL,
  -- Up to 1 h.
  delay_hour BIGINT NOT NULL,
  -- Later.
  delay_longer BIGINT NOT NULL,
  -- How often it was looked how things stand: of all types together alone.
  samples BIGINT NOT NULL,
  -- Tasks that waited then, added up over all these times; and so for the next seven.
  waiting BIGINT NOT NULL,
  -- That waited for another with the same value.
  held BIGINT NOT NULL,
  -- Of those that waited, whom a pause kept.
  paused BIGINT NOT NULL,
  -- Whom a limit kept.
  limited BIGINT NOT NULL,
  -- For whom there was nobody.
  no_executor BIGINT NOT NULL,
  -- For whom nobody was free.
  all_busy BIGINT NOT NULL,
  -- That ran.
  running BIGINT NOT NULL,
  -- Executors that had nothing to do: of all types together alone.
  idle BIGINT NOT NULL,
  -- The longest that a task that was due then had waited.
  oldest_wait_ms BIGINT NOT NULL,
  -- The longest delay of a start.
  delay_max_ms BIGINT NOT NULL,
  -- When the last has started.
  last_started_at BIGINT NOT NULL,
  -- When the last has ended.
  last_ended_at BIGINT NOT NULL,
  -- A type from then to then.
  PRIMARY KEY (ns, span, type, begin_at),
  -- What is old.
  KEY load_sample_begin (ns, span, begin_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Tasks that ended on that day (UTC), one table a day, made ahead; retention drops whole tables. Those of
-- namespaces whose retention is short or long are in tables of their own, task_history_short_YYYYMMDD and
-- task_history_long_YYYYMMDD, with the same columns and indexes, where there are any. One that is past its retention, and
-- in the archive where there is one, becomes task_dropped_YYYYMMDD: nobody reads it, its rows go, and then it.
-- The row is also the outbox row of the callback, so that both come with one commit. The columns
-- up to `params` are those of `task` at its end; columns that came later stand last in every table.
-- Tables that 2.0.0 made keep its indexes `id` (id) and `notify` (notify_state, notify_next_at, seq)
-- instead of those that begin with `ns`: all their rows are of `default`.
CREATE TABLE task_history_YYYYMMDD (
  -- Accept order, given by the master: the tie-break of every order. Never leaves the master.
  seq BIGINT NOT NULL PRIMARY KEY,
  -- The name of the task, chosen by the client or a UUIDv7.
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Which handler runs it.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Empty: 2.0.0 had the name of its kind here.
  lane VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- waiting, offered or running; in history succeeded, failed, canceled or expired.
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Raised by one with every write of the row, which names the version it expects.
  version INT NOT NULL,
  -- Seconds of head start; already part of order_time.
  priority INT NOT NULL,
  -- Sort key of a waiting task, before seq.
  order_time BIGINT NOT NULL,
  -- A waiting task is not offered before this instant.
  due_at BIGINT NOT NULL,
  -- Number of the newest attempt, which fences older ones; 0 before the first offer.
  attempt INT NOT NULL,
  -- Attempts that count against max_attempts.
  attempts_used INT NOT NULL,
  -- Executors lost under this task since its last new checkpoint.
  crash_count INT NOT NULL,
  -- Who has the newest attempt, or had the last one.
  executor_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- When the newest attempt was offered.
  offered_at BIGINT NULL,
  -- When the executor accepted it.
  started_at BIGINT NULL,
  -- When the running attempt was told to end; NULL if it was not.
  cancel_requested_at BIGINT NULL,
  -- Why: canceled, execution_timeout, stalled, deadline or drain.
  cancel_reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- How the newest ended attempt ended; see task_attempt.outcome.
  last_outcome VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- 0 to 100, as last reported.
  progress_percent DOUBLE NULL,
  -- When progress was last reported.
  progress_at BIGINT NULL,
  -- When the task was accepted.
  submitted_at BIGINT NOT NULL,
  -- Attempts that may be used up; 0 means until success.
  max_attempts INT NOT NULL,
  -- JSON: seconds between attempts, a number or a list.
  retry_interval VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- How long an executor may take to accept an offer.
  assign_timeout_ms BIGINT NOT NULL,
  -- How long one attempt may run; NULL means without limit.
  execution_timeout_ms BIGINT NULL,
  -- How long it may run without progress; NULL means without limit.
  stall_timeout_ms BIGINT NULL,
  -- The end of the task over all attempts; NULL means none.
  deadline_at BIGINT NULL,
  -- Digest of the request, to recognise its repetition; empty where the master chose the id.
  request_hash VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- JSON array: what the task is, for reserved executors and for listing.
  labels VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- JSON array: labels that an executor must have.
  requires VARCHAR(1024) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- The project group that the usage is counted for.
  user_group VARCHAR(64) NOT NULL,
  -- The project, as the client says.
  user_project VARCHAR(64) NULL,
  -- The environment, as the client says.
  user_env VARCHAR(64) NULL,
  -- The user, as the client says.
  user_name VARCHAR(64) NULL,
  -- Where the callback goes; NULL means that none is wanted.
  notify_url MEDIUMTEXT NULL,
  -- JSON of the executor, as last reported.
  progress_state MEDIUMTEXT NULL,
  -- JSON { message, name?, details? } of the newest attempt that failed.
  error MEDIUMTEXT NULL,
  -- JSON that the next attempt starts from.
  checkpoint MEDIUMTEXT NULL,
  -- JSON for the handler. The master never reads it.
  params MEDIUMTEXT NOT NULL,
  -- When the task ended; its UTC day names the table, and what its namespace's retention was then.
  finished_at BIGINT NOT NULL,
  -- attempts_exhausted, non_retryable, crash_budget, not_started or deadline.
  failure_reason VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- pending, delivered or gave_up; NULL where no callback is wanted.
  notify_state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Deliveries tried.
  notify_tries INT NULL,
  -- When the next try is due.
  notify_next_at BIGINT NULL,
  -- HTTP status of the last try; NULL where there was no answer.
  notify_status INT NULL,
  -- Why the last try failed.
  notify_error MEDIUMTEXT NULL,
  -- When the callback was answered with 2xx.
  delivered_at BIGINT NULL,
  -- JSON that the handler returned.
  result MEDIUMTEXT NULL,
  -- As in `task`.
  ns INT NOT NULL DEFAULT 0,
  -- As in `task`.
  incarnation VARCHAR(64) NULL,
  -- As in `task`.
  contact_count INT NOT NULL DEFAULT 0,
  -- As in `task`.
  hidden_ms BIGINT NOT NULL DEFAULT 0,
  -- As in `task`.
  stall_hidden_ms BIGINT NOT NULL DEFAULT 0,
  -- As in `task`.
  start_timeout_ms BIGINT NULL,
  -- As in `task`.
  start_timeout_action VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- As in `task`.
  end_by BIGINT NULL,
  -- As in `task`.
  disk_bytes BIGINT NULL,
  -- As in `task`.
  uses VARCHAR(584) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- As in `task`.
  lane_seq BIGINT NULL,
  -- As in `task`.
  progress_detail MEDIUMTEXT NULL,
  -- As in `task`.
  traceparent VARCHAR(55) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Since when deliveries are counted: the end of the task, or the newest redeliver. NULL: the end.
  notify_since BIGINT NULL,
  -- Of which job it is a run: JSON array of its name, its version, the trigger and the time; NULL: of none.
  job MEDIUMTEXT NULL,
  -- Of which booking it is; NULL: of none.
  booking VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- An id is taken as long as its task is retained.
  UNIQUE KEY task_history_YYYYMMDD_ns_id (ns, id),
  -- Listing by state, newest first.
  KEY task_history_YYYYMMDD_state (state, seq),
  -- The outbox: callbacks that are due. SQLite leaves out tasks without one.
  KEY task_history_YYYYMMDD_ns_notify (ns, notify_state, notify_next_at, seq)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- Alerts, of all namespaces: what a rule has found, or somebody has said, from when it was raised until it is cleared.
CREATE TABLE alert (
  -- Made by the master.
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  -- The rule, by name.
  rule VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- Its kind.
  kind VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- info, warning or critical.
  severity VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- In which; NULL: it is about the master.
  namespace VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- NULL: it is about no one type.
  type VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- NULL: it is about no one group.
  user_group VARCHAR(64) NULL,
  -- With the rule and the namespace, what it is raised once for.
  subject MEDIUMTEXT NOT NULL,
  -- What is so, and by which limit.
  message MEDIUMTEXT NOT NULL,
  -- The least that would mend it.
  remedy MEDIUMTEXT NULL,
  -- JSON: what came with a message; of all other kinds what it says.
  fields MEDIUMTEXT NULL,
  -- When it was raised.
  raised_at BIGINT NOT NULL,
  -- When it was found, or said, last, as of the newest write.
  seen_at BIGINT NOT NULL,
  -- How often it was said.
  said_count INT NOT NULL,
  -- NULL: it goes on.
  cleared_at BIGINT NULL,
  -- When receivers were told last; NULL: nobody was.
  told_at BIGINT NULL,
  -- How often they were told again.
  repeat_count INT NOT NULL,
  -- Until when nobody is told.
  silenced_until BIGINT NULL,
  -- The name of the token that has said so.
  silenced_by VARCHAR(64) NULL,
  -- Why, in his words.
  silence_reason MEDIUMTEXT NULL,
  -- The newest first.
  KEY alert_raised (raised_at, id),
  -- Those that are raised; those that are old.
  KEY alert_cleared (cleared_at),
  -- Those of which nobody is to hear.
  KEY alert_silenced (silenced_until)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What a receiver of alerts is told at once; written together with the alerts that it tells of.
CREATE TABLE alert_delivery (
  -- The same for each try.
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL PRIMARY KEY,
  -- By name.
  receiver VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- When it was to be told.
  made_at BIGINT NOT NULL,
  -- JSON: the alerts, as they were then, and what of each is told.
  told MEDIUMTEXT NOT NULL,
  -- Others at the same time.
  more_count INT NOT NULL,
  -- pending, delivered or failed.
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- How often it was sent.
  tries INT NOT NULL,
  -- When it is sent next, where it is pending.
  next_try_at BIGINT NOT NULL,
  -- Of the newest try.
  error MEDIUMTEXT NULL,
  -- When it was taken, or given up.
  ended_at BIGINT NULL,
  -- Those that are pending; those that are old.
  KEY alert_delivery_state (state, ended_at)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

-- What people have set of alerts: rules, beside those of the version, and who is told.
CREATE TABLE alert_setting (
  -- rule or receiver.
  what VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- As people call it.
  name VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- JSON; of a receiver with what it knows the master by.
  definition MEDIUMTEXT NOT NULL,
  -- By what it is, and its name.
  PRIMARY KEY (what, name)
) ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;
