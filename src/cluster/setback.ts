import * as v from 'valibot';

/** Why an iteration is given back that came to no end. None of these counts as a failure of the loop. */
export type Setback = {
  readonly kind: /** What the loop needs cannot be reached now: it waits at the end of its queue. */
    | 'unprepared'
    /** What the loop needs does not exist; three machines in a row have looked. */
    | 'missing'
    /** No machine can run it before a person repairs something. */
    | 'impossible'
    /** The machine is at fault: another one runs it. */
    | 'machine'
    /** The process that ran it was killed. */
    | 'died';
  readonly why: string;
};

/** Setbacks in a row of the iteration that is due. */
export const setbacks = v.object({ looks: v.number(), deaths: v.number() });
type Setbacks = Readonly<v.InferOutput<typeof setbacks>>;

export const noSetbacks: Setbacks = { looks: 0, deaths: 0 };
