import type { ValueSummary } from '#documents/scheduler/value-search.ts';
import { ValueStateBadge } from '../../components/badge.tsx';
import { ValueLink } from './value-link.tsx';
import { summaryText } from './value-text.ts';

interface Props {
  readonly caption: string;
  readonly values: readonly ValueSummary[];
}

/** A row for each value; the server limits their number. */
export function ValueTable({ caption, values }: Props) {
  return (
    <table class="values">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Key</th>
          <th scope="col">State</th>
          <th scope="col">Descriptor</th>
          <th scope="col">Last operation</th>
          <th scope="col">Remarks</th>
        </tr>
      </thead>
      <tbody>
        {values.map((value) => (
          <tr key={value.key}>
            <td>
              <ValueLink valueKey={value.key} />
            </td>
            <td>
              <ValueStateBadge state={value.state} />
            </td>
            <td>{value.descriptor ?? <span class="quiet">none</span>}</td>
            <td>{value.lastOperation?.toLowerCase()}</td>
            <td class="remarks">
              {summaryText(value)}
              {value.derivedFrom !== undefined && (
                <span class="quiet">
                  derived from <ValueLink valueKey={value.derivedFrom} isShort />
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
