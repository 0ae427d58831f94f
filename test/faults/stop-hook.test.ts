import { expect, it } from 'vitest';
import { stopCase } from './cases/stop-hook.ts';
import { missing, operationsOf, testFaults } from './matrix.ts';

testFaults('the stop hook', stopCase, 64);

it.skipIf(missing !== null)('the state of a session is flushed before it takes its place', async () => {
  const operations = await operationsOf(stopCase);
  const renamed = operations.findIndex(({ name, path }) => name === 'rename' && path.endsWith('/s.json'));
  const flushed = operations.slice(0, renamed).filter(({ name }) => name === 'fsync');
  expect(flushed.map(({ path }) => path)).toEqual([expect.stringMatching(/\/\.s\.json\.[^/]*\.tmp$/)]);
});
