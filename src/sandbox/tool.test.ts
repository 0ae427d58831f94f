import { expect, it } from 'vitest';
import { reasonOf } from './tool.ts';

it.each([
  ['WARNING: config is readable by others\nCannot connect to the daemon\n', 'Cannot connect to the daemon'],
  ['time="12:00" level=warning msg="old"\nError: no such image\n', 'Error: no such image'],
  ['WARN[0000] only this\n', 'WARN[0000] only this'],
  ['\n  permission denied\nmore\n', 'permission denied'],
])('the reason of a failure is no warning before it: %j', (stderr, reason) => {
  expect(reasonOf({ stdout: '', stderr, exitCode: 1, signal: null, timedOut: false, truncated: false })).toBe(
    reason,
  );
});
