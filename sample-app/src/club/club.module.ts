import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { MemberController } from './member.controller.js';
import { Member } from './member.entity.js';
import { MemberNames } from './member-names.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([Member])],
  controllers: [MemberController],
  providers: [MemberNames],
})
export class ClubModule {}
