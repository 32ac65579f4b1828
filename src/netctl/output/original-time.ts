/** Times in tables, as the original prints them: `Mon Jan  2 15:04:05 2006`, in the local time zone. */

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** @param ms since 1970 */
export function originalTime(ms: number): string {
  const date = new Date(ms);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
  const day = String(date.getDate()).padStart(2);
  return `${DAYS[date.getDay()]} ${MONTHS[date.getMonth()]} ${day} ${clock} ${date.getFullYear()}`;
}
