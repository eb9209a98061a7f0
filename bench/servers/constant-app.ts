import { Controller, Get, Module } from '@nestjs/common';

@Controller()
class ConstantController {
  @Get('constant')
  answer(): object {
    return { id: 1, question_text: 'constant' };
  }
}

/** The floor: what Nest and its HTTP library cost where nothing is done. */
@Module({ controllers: [ConstantController] })
export class ConstantApp {}
