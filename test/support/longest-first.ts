import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take more than a minute, by the beginning of their path below `test/`. */
const long = [
  'agents/',
  'faults/',
  'same-end/',
  'sandbox/escape',
  'cluster/',
  'drive/',
  'fleet/',
  'show/web/',
];

/** Starts long files first, so that none of them runs alone at the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => rankOf(one) - rankOf(other));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = long.findIndex((start) => moduleId.includes(`/test/${start}`));
  return rank === -1 ? long.length : rank;
}
