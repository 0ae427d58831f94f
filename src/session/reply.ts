/** What a hook answers, before a host puts it into its own form. */
export type Reply =
  /** This is no business of ours: no output at all. */
  | { readonly kind: 'silent' }
  /** The agent must not stop; it is told this. */
  | { readonly kind: 'continue'; readonly message: string; readonly notice?: string }
  /** The agent may go on as it does; it is told this, and the user the notice. */
  | { readonly kind: 'context'; readonly message: string; readonly notice?: string }
  /** The user is told something; nothing changes for the agent. */
  | { readonly kind: 'notice'; readonly notice: string }
  /** The user's prompt was for us; it does not reach the model. */
  | { readonly kind: 'answer'; readonly message: string };

export const silent: Reply = { kind: 'silent' };
