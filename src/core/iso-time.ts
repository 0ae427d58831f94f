const day = 24 * 60 * 60_000;

/**
 * Epoch milliseconds as `Date.prototype.toISOString` writes them, for the years 1 to 9999: the first Date of a process
 * reads the time zone of the machine, which costs a hook half a millisecond.
 */
export function isoTime(ms: number): string {
  const { year, month, date } = dateOf(Math.floor(ms / day));
  const rest = ms - Math.floor(ms / day) * day;
  const [hours, minutes, seconds] = [rest / 3_600_000, (rest / 60_000) % 60, (rest / 1000) % 60];
  const at = `${padded(hours)}:${padded(minutes)}:${padded(seconds)}.${padded(rest % 1000, 3)}`;
  return `${padded(year, 4)}-${padded(month)}-${padded(date)}T${at}Z`;
}

/** The date so many days after 1970, counted in years that start with March, so that the leap day is their last. */
function dateOf(days: number): { year: number; month: number; date: number } {
  const sinceYear0 = days + 719_468;
  const era = Math.floor(sinceYear0 / 146_097);
  const dayOfEra = sinceYear0 - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    date: dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1,
  };
}

function padded(value: number, length = 2): string {
  return String(Math.floor(value)).padStart(length, '0');
}
