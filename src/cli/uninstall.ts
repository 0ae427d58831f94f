import { change } from './install.ts';
import type { installOptions } from './options.ts';
import type { Context, Input } from './spec.ts';

export function main(context: Context, input: Input<typeof installOptions>): number {
  return change('uninstall', context, input);
}
