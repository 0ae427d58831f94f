import { stateText } from '../fleet/why.ts';
import type { FleetEvent } from '../store/fleet-events.ts';
import { showStamp, stamp } from '../store/fleet-time.ts';

/** A line of a timeline. */
export function eventText({ at, type, text }: FleetEvent): string {
  const told = type === 'screen' ? stateText(text) : text;
  return `${showStamp(stamp(at))}  ${told.replace(/\s+/g, ' ')}`;
}
