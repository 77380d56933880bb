__asm__(".section .rodata\n.global blob\nblob:\n.incbin \"" BLOB "\"\n.byte 0\n.text");
