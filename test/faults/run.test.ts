import { expect, it } from 'vitest';
import { runCase } from './cases/run.ts';
import { missing, operationsOf, testFaults } from './matrix.ts';

testFaults('ralph run', runCase, 150);

it.skipIf(missing !== null)('each decision of a run is flushed before the next agent starts', async () => {
  const operations = await operationsOf(runCase);
  const journal = operations.filter(({ path }) => path.endsWith('/journal.ndjson')).map(({ name }) => name);
  const second = operations.findIndex(
    ({ name, path }) => name === 'rename' && path.endsWith('002.prompt.md'),
  );
  expect(operations.slice(0, second).map(({ name }) => name)).toContain('fsync');
  expect(journal.lastIndexOf('fsync')).toBeGreaterThan(journal.lastIndexOf('write'));
});
