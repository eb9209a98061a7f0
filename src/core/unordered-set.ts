/** A member of an `UnorderedSet`, which keeps the member's position in it. */
export interface UnorderedSetMember {
  /** Written by the set only; `NO_POSITION` outside of it. */
  position: number;
}

/** The position of an object that is in no set. */
export const NO_POSITION = -1;

/**
 * A set of objects that each request adds and removes; an object is in one such set at most. Adding and removing
 * allocate no memory. A `Set` allocates a new table every few changes, and a table that has reached the old generation
 * of the heap keeps all tables after it, with their members, until the old generation is collected.
 */
export class UnorderedSet<Member extends UnorderedSetMember> {
  private readonly members: Member[] = [];

  get size(): number {
    return this.members.length;
  }

  add(member: Member): void {
    member.position = this.members.push(member) - 1;
  }

  /** True if it was a member. */
  delete(member: Member): boolean {
    const { members } = this;
    const { position } = member;
    if (members[position] !== member) return false;
    const last = members.pop();
    if (last && last !== member) {
      members[position] = last;
      last.position = position;
    }
    member.position = NO_POSITION;
    return true;
  }

  /**
   * Visits the members in any order. `visit` may delete members, the one that it is given and others: none that remains is
   * left out, and some may be visited twice.
   */
  forEach(visit: (member: Member) => void): void {
    for (let position = this.members.length - 1; position >= 0; position--) {
      const member = this.members[position];
      if (member) visit(member);
    }
  }

  count(isCounted: (member: Member) => boolean): number {
    let count = 0;
    for (const member of this.members) if (isCounted(member)) count++;
    return count;
  }
}
