/** The clocks of a zone, as programs read and show them for people. Pure; the rules are those of the runtime. */

const DAY_MS = 86_400_000;

const OFFSET = /([+-])(\d\d):(\d\d)(?::(\d\d))?$/;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  formats.set(zone, made);
  return made;
}

/** How far they are ahead of UTC then, told as `GMT+08:00`, of other centuries with seconds; `GMT`: not at all. */
function offsetOf(zone: string, at: number): number {
  const told = formatOf(zone)
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName');
  const [, sign, hours, minutes, seconds] = OFFSET.exec(told?.value ?? '') ?? [];
  const [ofHours, ofMinutes] = [Number(hours ?? 0) * 3600, Number(minutes ?? 0) * 60];
  return (sign === '-' ? -1000 : 1000) * (ofHours + ofMinutes + Number(seconds ?? 0));
}

/** What they show then, in epoch milliseconds, as if they were those of UTC. @throws {RangeError} no such zone. */
export function wallOf(zone: string, at: number): number {
  return at + offsetOf(zone, at);
}

/**
 * When they show that first, in epoch milliseconds; what they leave out as they are set forward is as much later.
 * @param wall As of `wallOf`. @throws {RangeError} There is no such zone.
 */
export function instantOfWall(zone: string, wall: number): number {
  const tried = [wall - DAY_MS, wall + DAY_MS].map((at) => wall - offsetOf(zone, at));
  const shown = tried.filter((at) => wallOf(zone, at) === wall);
  return shown.length > 0 ? Math.min(...shown) : Math.max(...tried);
}
