import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Member } from './member.entity.js';

/** A service of the application, which a `@RestifyController` injects like any other controller. */
@Injectable()
export class MemberNames {
  constructor(@InjectRepository(Member) private readonly members: Repository<Member>) {}

  async rename(id: number, name: string): Promise<{ id: number; name: string }> {
    await this.members.update(id, { name });
    return { id, name };
  }
}
