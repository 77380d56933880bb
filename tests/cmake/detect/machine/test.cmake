machine("driver 580.95.05
cuda 13000
device cc=12.0 uuid=GPU-1 pci=0000:3B:00.0 name=NVIDIA RTX 5090
device cc=9.0 uuid=GPU-2 pci=0000:5E:00.0 name=NVIDIA H100
device cc=9.0 uuid=GPU-3 pci=0000:86:00.0 name=NVIDIA H100
")
configure(ARGS -DARGUMENTS=)
tells()
says("status: ok, architectures: 90;120, file: <build>/archguard/detected.csv.")
file(STRINGS "${BUILD}/archguard/detected.csv" lines)
list(LENGTH lines count)
compare("lines of the file" "${count}" 4)

# A later configure takes the answer again, and does not ask a driver that would not answer.
machine("driver 580.95.05\ncuda 13000\nhang cuInit\n" SAME_DRIVER)
configure(ARGS --log-level=VERBOSE)
says("-- ArchGuard: the GPUs of this machine are those of an earlier configure, since nothing changed that the drivers' \
answer depends on (cmake --fresh asks them again)")
says("status: ok, architectures: 90;120, file: <build>/archguard/detected.csv.")
# ... until something changes: here the environment.
machine("driver 580.95.05\ncuda 13000\nfail cuInit 100\n" SAME_DRIVER)
configure(ARGS --log-level=VERBOSE ENV CUDA_DEVICE_ORDER=PCI_BUS_ID)
says("-- ArchGuard: the drivers were asked for the GPUs of this machine; of an earlier answer: the environment variable \
CUDA_DEVICE_ORDER changed")
says("status: none, architectures: , file: .")

machine("driver 580.95.05\ncuda 13000\nfail cuInit 100\n")
configure()
says("-- ArchGuard: no usable GPU (none): ")
says("status: none, architectures: , file: .")

machine("driver 580.95.05\ncuda 13000\nfail cuInit 999\n")
configure()
says("-- ArchGuard: no usable GPU (failed): ")
says("status: failed, architectures: , file: .")

machine("driver 580.95.05\ncuda 13000\nhang cuInit\n")
configure(ARGS "-DARGUMENTS=TIMEOUT;1")
says("status: failed, architectures: , file: .")

configure(ARGS -DARCHGUARD_DETECT=OFF)
tells("not looking for GPUs, as ARCHGUARD_DETECT is off")
says("status: none, architectures: , file: .")

configure(FAILS ARGS "-DARGUMENTS=TIMEOUT;soon")
errs("archguard_detect: TIMEOUT 'soon' is not a number of seconds")
configure(FAILS ARGS "-DARGUMENTS=DEVICES")
errs("archguard_detect: unknown argument 'DEVICES'; it knows TIMEOUT")
