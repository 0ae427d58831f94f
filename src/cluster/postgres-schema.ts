/** Version of the tables below. Raise it with every change, and keep existing data. */
export const schemaVersion = '1';

/** The tables and functions of a fleet on PostgreSQL. Everything is timed by the clock of the server. */
export const postgresSchema = `
BEGIN;
CREATE SCHEMA IF NOT EXISTS ralph_fleet;

CREATE TABLE IF NOT EXISTS ralph_fleet.record (
  shelf text NOT NULL,
  key text NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (shelf, key)
);
CREATE TABLE IF NOT EXISTS ralph_fleet.line (
  id bigserial PRIMARY KEY,
  list text NOT NULL,
  value text NOT NULL
);
CREATE INDEX IF NOT EXISTS line_of_list ON ralph_fleet.line (list, id);
CREATE TABLE IF NOT EXISTS ralph_fleet.slot (id text PRIMARY KEY, until bigint NOT NULL);
CREATE TABLE IF NOT EXISTS ralph_fleet.start (id text PRIMARY KEY, began bigint NOT NULL);

CREATE OR REPLACE FUNCTION ralph_fleet.now() RETURNS bigint LANGUAGE sql AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
$$;

CREATE OR REPLACE FUNCTION ralph_fleet.swap(in_shelf text, of_key text, before text, after text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF before IS NULL AND after IS NULL THEN
    RETURN NOT EXISTS (SELECT FROM ralph_fleet.record WHERE shelf = in_shelf AND key = of_key);
  ELSIF before IS NULL THEN
    INSERT INTO ralph_fleet.record VALUES (in_shelf, of_key, after) ON CONFLICT DO NOTHING;
  ELSIF after IS NULL THEN
    DELETE FROM ralph_fleet.record WHERE shelf = in_shelf AND key = of_key AND value = before;
  ELSE
    UPDATE ralph_fleet.record SET value = after WHERE shelf = in_shelf AND key = of_key AND value = before;
  END IF;
  RETURN FOUND;
END $$;

CREATE OR REPLACE FUNCTION ralph_fleet.append(to_list text, lines text[], keep bigint)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO ralph_fleet.line (list, value) SELECT to_list, unnest(lines);
  DELETE FROM ralph_fleet.line WHERE list = to_list AND id <= (
    SELECT id FROM ralph_fleet.line WHERE list = to_list ORDER BY id DESC OFFSET keep LIMIT 1);
END $$;

CREATE OR REPLACE FUNCTION ralph_fleet.take_slot(
  of_slot text, of_start text, max_slots bigint, per_minute bigint, lease bigint, OUT taken bigint, OUT wait bigint
) LANGUAGE plpgsql AS $$
DECLARE
  moment bigint;
BEGIN
  -- One at a time: two who count at once would both find the last slot free.
  LOCK TABLE ralph_fleet.slot IN SHARE ROW EXCLUSIVE MODE;
  moment := ralph_fleet.now();
  DELETE FROM ralph_fleet.slot WHERE until <= moment;
  DELETE FROM ralph_fleet.start WHERE began <= moment - 60000;
  SELECT count(*) INTO taken FROM ralph_fleet.slot WHERE id <> of_slot;
  wait := 0;
  IF max_slots IS NOT NULL AND taken >= max_slots THEN
    wait := -1;
  ELSIF per_minute IS NOT NULL AND (SELECT count(*) FROM ralph_fleet.start) >= per_minute THEN
    SELECT greatest(1, coalesce(min(began), moment) + 60000 - moment) INTO wait FROM ralph_fleet.start;
  ELSE
    INSERT INTO ralph_fleet.slot VALUES (of_slot, moment + lease) ON CONFLICT (id) DO UPDATE SET until = excluded.until;
    INSERT INTO ralph_fleet.start VALUES (of_start, moment) ON CONFLICT DO NOTHING;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION ralph_fleet.free_slot(of_slot text, of_start text)
RETURNS void LANGUAGE sql AS $$
  DELETE FROM ralph_fleet.slot WHERE id = of_slot;
  DELETE FROM ralph_fleet.start WHERE id = of_start;
$$;

INSERT INTO ralph_fleet.record VALUES ('fleet', 'schema', '${schemaVersion}')
  ON CONFLICT (shelf, key) DO UPDATE SET value = excluded.value;
COMMIT;
`;
