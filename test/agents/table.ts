import { readFileSync } from 'node:fs';

/** How an agent meets a usage limit that is over in seconds. */
export type LimitManner =
  /** It says when the limit ends, and the loop waits for that. */
  | 'waits'
  /** It says no time, so that the loop tries again after a pause of its own. */
  | 'backs-off'
  /** It tries again by itself, and the loop hears nothing of it. */
  | 'retries'
  /** It takes the limit for one of a day, which is longer than the loop may wait. */
  | 'gives-up';

/** The real.json of an agent; docs/adding-an-agent.md says what each part is. */
export type AgentRow = {
  readonly package?: string;
  readonly versions?: readonly string[];
  readonly needsScripts?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly files?: Readonly<Record<string, unknown>>;
  readonly setup?: readonly string[];
  readonly routes?: Readonly<Record<string, unknown>>;
  readonly limit: LimitManner;
  /** It bears errors of the API for minutes before it says a word. */
  readonly stubborn?: boolean;
  /** What is different by the Agent Client Protocol; there only if it speaks it. */
  readonly acp?: Partial<AgentRow>;
};

/** An agent that was asked for: where its program is, or why there is none. */
export type WantedAgent = {
  readonly name: string;
  readonly version: string;
  /** Talk to it by this protocol. */
  readonly protocol?: 'acp';
} & ({ readonly program: string } | { readonly error: string });

export function rowOf({ name, protocol }: WantedAgent): AgentRow {
  const path = new URL(`../../src/agents/${name}/real.json`, import.meta.url);
  const row: AgentRow = JSON.parse(readFileSync(path, 'utf8'));
  return protocol === 'acp' ? { ...row, ...row.acp } : row;
}
