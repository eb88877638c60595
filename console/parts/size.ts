/** Bytes as people read them. */
const KIB = 1024;
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function sizeOf(bytes: number): string {
  const power = Math.min(
    UNITS.length - 1,
    Math.floor(Math.log(Math.max(1, bytes)) / Math.log(KIB)),
  );
  return `${(bytes / KIB ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}
