-- Runs have no jobs any more: the process looks at the tasks. No process would take these.
DELETE FROM "job" WHERE "kind" = 'run';
