/** The mappings of a service at sockets, which its value has by address and port alone. */
import type { MappingInWords } from './socket-mapping.ts';

export function SocketMappings({ mappings }: { readonly mappings: readonly MappingInWords[] }) {
  return (
    <section aria-labelledby="socket-mappings">
      <h3 id="socket-mappings">At sockets of this node</h3>
      <table>
        <caption>Processes that connect to an address reach one of its backends</caption>
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">Backends</th>
            <th scope="col">Session affinity</th>
            <th scope="col">Source of the host</th>
          </tr>
        </thead>
        <tbody>
          {mappings.map(({ asked, backends, affinity, hostSource }) => (
            <tr key={asked[0]}>
              <td>
                <Lines of={asked} />
              </td>
              <td>
                <Lines of={backends} />
              </td>
              <td>{affinity}</td>
              <td>{hostSource}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Lines({ of }: { readonly of: readonly string[] }) {
  return (
    <>
      {of.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </>
  );
}
