import type { ResolvedSettings } from './settings-schema.ts';

/** Returns settings that may hold secrets, as variables for a redactor. */
export function secretSettings({ agent, notify }: ResolvedSettings): Record<string, string> {
  return {
    ...agent.env,
    ...(notify.secret === undefined ? {} : { NOTIFY_SECRET: notify.secret }),
    // Many services accept everybody who knows the address.
    ...(notify.webhook === undefined ? {} : { NOTIFY_WEBHOOK_SECRET: notify.webhook }),
  };
}
