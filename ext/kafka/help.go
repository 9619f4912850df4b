package kafka

// Help says how streams are named, and what becomes of them.
const Help = `
train, predict and evaluate -i read a partition of a topic of Kafka in place of files, and predict
-o answers on a topic. It is named by a URL:

  kafka://[USER:PASSWORD@]HOST[:PORT][,HOST...]/TOPIC/PARTITION[@OFFSET][?OPTION=VALUE&...]

Reading begins at OFFSET, or else with the first record there is. A record's value has one row or
several, in whole lines; errors name TOPIC/PARTITION@OFFSET and the line in the record. Each record
is read once and in order, of transactions those that were committed; there is no consumer group.
The partition of answers may be left out: they are spread by their keys.

  end       never (the default): go on until the run is stopped; now: end behind what the partition
            holds when it is opened; pause: stop there, so that train --resume can go on
  timeout   how long a connection or a request may take: 5s
  patience  how long the brokers may be away meanwhile: 5m; 0s is for ever
  sasl      plain, scram-sha-256 or scram-sha-512: how USER and PASSWORD are shown (plain)
  tls       true encrypts the connections
  ca, cert, key
            files of PEM: whom to trust, and who this program is; with them connections are
            encrypted
  create    answers only: true makes the topic where there is none

What is secret may stand in the environment: KAFKA_USER, KAFKA_PASSWORD, KAFKA_CA, KAFKA_CERT,
KAFKA_KEY.

A model that is written on the way has the place behind which it has learned nothing yet, an offset
and bytes of the record there, and train --resume begins there: each row is learned once, whatever
was killed. Records that were removed since are an error.

An answer has a line for each good row of a record, its key, its headers, and Halfspace-Source,
which is TOPIC/PARTITION@OFFSET of the record. To go on behind a predict that was killed, begin
behind the record that the last answer names.`
