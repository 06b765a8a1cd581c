import { Injectable } from '@nestjs/common';
import { DefinitionScreening, hasHiddenCharacters } from '@app/approvals';
import { OfferingStore } from '../lists/offering.store.js';

/** A server has one text; what waits for approval is listed under this name. */
const NAME = 'instructions';

/** Decides whether the instructions of a server are offered (contract R57), and stores them together with the decision. */
@Injectable()
export class InstructionScreening {
  constructor(
    private readonly screening: DefinitionScreening,
    private readonly store: OfferingStore,
  ) {}

  /** Whether this text is offered; an empty one is that of a server without instructions. */
  async isOffered(serverId: string, text: string): Promise<boolean> {
    const listed =
      text === ''
        ? []
        : [
            {
              name: NAME,
              definition: { instructions: text },
              hasHidden: hasHiddenCharacters(JSON.stringify(text)),
            },
          ];
    let before: string | undefined;
    const names = await this.screening.publish(serverId, 'instructions', listed, {
      read: async (tx) => {
        before = await this.store.instructionsOf(serverId, tx);
        return before === undefined
          ? undefined
          : new Map(before === '' ? [] : [[NAME, { instructions: before }]]);
      },
      write: async (offered, tx) => {
        // The row of a server without instructions is empty, so that its first ones are a change.
        const after = text === '' || offered.has(NAME) ? text : undefined;
        if (after === before) return;
        await this.store.replaceInstructions(serverId, after, tx);
        await this.store.tellIn(tx, serverId);
      },
    });
    return names.has(NAME);
  }
}
