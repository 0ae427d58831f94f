import { breaksBetween, type Joined } from './mention.ts';

/** Joins text blocks so that a tag cut by a block border is whole, and notes where one thought ends and another begins. */
export function joinBlocks(blocks: readonly string[]): Joined {
  let breaks: readonly number[] | undefined;
  return {
    text: blocks.join(''),
    // Most turns hold no tag to judge, and the first use of a Unicode class costs milliseconds: look only when asked.
    get breaks() {
      breaks ??= breaksBetween(blocks);
      return breaks;
    },
  };
}
