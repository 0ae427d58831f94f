import type { NoticeKind } from '../../core/notice.ts';
import type { Environment } from '../process/program.ts';
import { type Service, services } from './presets.ts';

export const channels = ['bell', 'desktop', 'webhook', ...services, 'email', 'command'] as const;

export type Channel = (typeof channels)[number];

/** The settings `notify`: which notices to send, and by which channels. */
export type NotifySettings = {
  readonly on: readonly NoticeKind[];
  readonly bell: boolean;
  readonly desktop: boolean;
  readonly webhook?: string;
  readonly secret?: string;
  readonly email?: string;
  readonly command?: readonly string[];
} & { readonly [S in Service]?: string };

export type NotifyWorld = {
  readonly cwd: string;
  /** The agent works in a sandbox: nothing of the project may run here. */
  readonly sandboxed: boolean;
  readonly env: Environment;
  readonly version: string;
  /** Writes to the user's terminal; null if there is none. */
  readonly terminal: ((sequence: string) => void) | null;
  /** Gives up at once when it aborts. */
  readonly stop?: AbortSignal;
};

/** Result of sending by one channel. `detail` is fit for a log: it contains neither the address nor the secret. */
export type Delivery = { readonly channel: Channel; readonly ok: boolean; readonly detail: string };

export function channelsOf(settings: NotifySettings): Channel[] {
  return channels.filter((channel) => settings[channel] !== undefined && settings[channel] !== false);
}
