import * as v from 'valibot';

const maxWords = 10_000;

const noText = 'a note or an answer needs a text';
const text = v.pipe(
  v.string(noText),
  v.check((words) => words.trim() !== '', noText),
  v.maxLength(maxWords, `a note or an answer has ${maxWords} characters at most`),
);

const action = v.variant(
  'action',
  [
    v.object({ action: v.picklist(['pause', 'resume', 'stop']) }),
    v.object({ action: v.picklist(['note', 'answer']), text }, noText),
  ],
  'an action is pause, resume, stop, note or answer',
);

export type Action = Readonly<v.InferOutput<typeof action>>;

/** The action in a request; a text says what is wrong with it. */
export function readAction(body: string): Action | string {
  const value = v.safeParse(v.pipe(v.string(), v.parseJson({}, 'this is no JSON'), action), body);
  return value.success ? value.output : value.issues[0].message;
}
