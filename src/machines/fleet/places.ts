/**
 * The names of a fleet's keys at the server. The braces are a hash tag: in a cluster, all of them are at one node, so that they can be
 * written together, and fleets spread over the nodes.
 */
export interface FleetPlaces {
  /** A stream: what every machine says, in order. */
  readonly log: string;
  /** A stream: which machines are there. */
  readonly pulses: string;
  /** A hash: the latest word of the machine about each of its sessions, and its hello. */
  nowOf(machine: string): string;
  /** A hash: the list of members, by its version. */
  readonly members: string;
  /** A hash: invitations that nobody has used. */
  readonly invitations: string;
  /** A stream: what is asked of one machine. */
  requestsTo(machine: string): string;
  /** What the machine that uses an invitation says, and what it is answered. */
  joining(invitation: string): { readonly asked: string; readonly answered: string };
}

export function createPlaces(fleet: string): FleetPlaces {
  const start = `beckon:{${fleet}}:`;
  return {
    log: `${start}log`,
    pulses: `${start}pulses`,
    nowOf: (machine) => `${start}now:${machine}`,
    members: `${start}members`,
    invitations: `${start}invitations`,
    requestsTo: (machine) => `${start}to:${machine}`,
    joining: (invitation) => ({
      asked: `${start}join:${invitation}:asked`,
      answered: `${start}join:${invitation}:answered`,
    }),
  };
}
